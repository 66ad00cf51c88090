from .bed import Bed
from .plants import Plant, sow as plant_seed
