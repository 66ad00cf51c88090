from garden.beds import Bed as RaisedBed
from garden.beds.plants import *
from . import weather as sky

__version__ = "1"
