from .shelf import *
