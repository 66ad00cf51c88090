namespace Shop.Domain;
public partial class Cart { private int Sum() { return 3; } }
