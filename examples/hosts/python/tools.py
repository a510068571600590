"""Two functions as tools: install the wheel (docs/OWN_TOOLS.md), then `python tools.py`."""

from toolwire import Context, NotFound, serve, tool

ORDERS = {"A-1": {"state": "sent", "total": 80.0}, "A-2": {"state": "packed", "total": 250.0}}
PAID_BACK: dict[str, dict] = {}


@tool
def order_status(order_id: str) -> dict:
    """Where an order is. Use this when a customer asks about a delivery."""
    return ORDERS.get(order_id) or NotFound(f"no order {order_id}").throw()


@tool(write=True, approve_unless={"amount": {"minimum": 0, "maximum": 100}})
async def refund(order_id: str, amount: float, *, ctx: Context) -> dict:
    """Pays money back for an order. Do not use it for vouchers."""
    if order_id not in ORDERS:
        raise NotFound(f"no order {order_id}")
    await ctx.progress("Asking the bank", 0.5)
    # The same key in every repeat of the call, so that the bank pays once.
    return PAID_BACK.setdefault(ctx.request_id, {"order_id": order_id, "amount": amount})


if __name__ == "__main__":
    serve()
