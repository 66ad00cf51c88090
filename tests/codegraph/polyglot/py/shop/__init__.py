from .models import Order, Parcel as Box
from .pricing import quote

__all__ = ["Box", "Order", "quote"]
