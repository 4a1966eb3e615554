r"""Buffers in flight between an application process and its agent: bandwidth x delay, with ``w`` buffers.

A buffer is filled and handed over, travels, waits for no one, is routed by one thread, and its return travels: ``w`` of them
are on the way, so that a run takes no less than

.. math:: t = \frac1w\left(t_{emission} + t_{handing\ over} + \frac{V}{B} + t_{routing} + \frac{V}{c}(t_a + 2 l) + V\,t_r\right)

With the application's and the agent's own time it is the largest cycle mean of a loop with ``w`` tokens, which is exact for
one process and one thread. The application asks for a buffer when its own work is done, so that work is not in the loop.

Worked number: 1000 buffers, 1 us to fill and 3 us to route, 3 us each way, one in flight: 10 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._messages import filled, volume

(ring, emission, handing_over, work) = symbols("ring_buffers emission_time handing_over_time routing_work")
(bandwidth, latency, acknowledgement, per_byte) = symbols(
    "host_link_bandwidth host_link_latency handover_acknowledgement read_byte_time"
)

routing = work + filled * (acknowledgement + 2 * latency) + volume * per_byte

PHASE = Phase(
    name="ring_window",
    result="ring_window_time",
    unit="s",
    expression=(emission + handing_over + volume / bandwidth + routing) / ring,
    meaning="wait for handed-over buffers to come back",
    source="baccelli1992",
    assumption="a thread delivers what has arrived before it gives a buffer back; a buffer waits for no thread",
)
