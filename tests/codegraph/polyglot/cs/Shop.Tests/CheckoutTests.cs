using Shop.Domain;
using Shop.Infra;
using Shop.Web;

namespace Shop.Tests;

public class CheckoutTests
{
    private readonly FakeMailer _mailer = new();

    public void Pays()
    {
        var controller = new CheckoutController(_mailer, new Repository<Cart>());
        controller.Pay(1);
    }

    public void Blank()
    {
        var cart = Startup.Blank();
        cart.IsHeavy();
    }
}
