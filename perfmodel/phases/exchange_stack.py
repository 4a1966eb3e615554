r"""What the exchange of one state holds of the host's software, which serves all devices.

.. math:: t = \frac{2\,m\,t_p}{c}

Worked number: 128 messages of two passes of 10 us, 3 at a time, hold it for 0.85 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._chain import messages

(pass_time, passes) = symbols("pass_time passes")

PHASE = Phase(
    name="exchange_stack",
    result="shared_pace",
    unit="s",
    expression=2 * messages * pass_time / passes,
    meaning="one state in the host's software",
    source="mdgnn2026",
)
