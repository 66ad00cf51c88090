using Shop.Domain;
using Shop.Web.Views;
namespace Other.Place;
public class Both { public Cart C; public Money M; }
