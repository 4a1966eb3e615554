r"""Share of its throughput that flash reaches at the knee: half a step nearer, with the waits at the other stations.

.. math:: u \leftarrow \frac{u + u'}{2}, \quad 1 = u' \left(1 + \sum_{i \ne b} \frac{s_i g_i}{L_0}
          \frac{\rho_i u}{2 (1 - \rho_i u)} + \frac{s_b g_b}{L_0} \frac{u'}{2 (1 - u')}\right)

Worked number: where no other station makes reads wait, the share stays.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._knee import reached, waited

(share,) = symbols("knee_share")

PHASE = Phase(
    name="knee_step",
    result="knee_share",
    unit="",
    expression=(share + reached(waited(share))) / 2,
    meaning="share of flash's throughput at the knee, a step nearer",
    source="baskett1976",
)
