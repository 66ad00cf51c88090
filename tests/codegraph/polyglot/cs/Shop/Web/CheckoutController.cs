using Shop.Common;
using Shop.Domain;
using Shop.Infra;
using Pricing = Shop.Domain.Pricing;

namespace Shop.Web;

public class CheckoutController
{
    private readonly IMailer _mailer;
    private readonly IRepository<Cart> _carts;

    public CheckoutController(IMailer mailer, IRepository<Cart> carts)
    {
        _mailer = mailer;
        _carts = carts;
    }

    public int Pay(int id)
    {
        var cart = _carts.Load(id);
        var quote = Pricing.Quote.For(cart);
        _mailer.Send("shop");
        return quote.Amount() + cart.Total();
    }

    public string Show(Money money) => money.Pretty();

    public Address Home()
    {
        var address = new Address("a", "b");
        address.Label();
        return address;
    }

    public bool IsTop(Level level) => level == Level.High;
}
