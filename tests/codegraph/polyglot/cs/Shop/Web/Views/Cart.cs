namespace Shop.Web.Views;

public class Cart
{
    public string Render() => Total().ToString();

    public int Total() => 0;
}

public class Page
{
    private Cart _cart = new Cart();

    public string Html() => _cart.Render();

    public CheckoutController Controller { get; set; }

    public int Pay() => Controller.Pay(1);
}
