using Basket = Shop.Domain.Cart;

namespace Shop.Web
{
    public static class Startup
    {
        public static CheckoutController Build()
        {
            var mailer = new Infra.SmtpMailer();
            return new CheckoutController(mailer, new Infra.CartRepository());
        }

        public static Basket Blank()
        {
            Basket basket = new();
            basket.Add(new Domain.Line());
            return basket;
        }
    }
}
