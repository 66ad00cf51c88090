using Basket = Shop.Domain.Cart;
using static Shop.Domain.CartExtensions;
namespace Shop.Web;
public class AliasPage { public Basket B; public int Run(Basket b) { return b.Total(); } public void M() { var x = new Basket(); x.Total(); Domain.Money m = null; Shop.Domain.Colour c; } }
