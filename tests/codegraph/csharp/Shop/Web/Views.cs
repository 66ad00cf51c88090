namespace Shop.Web.Views;
public class Cart { public string Render() { return ""; } }
public class Page { public Cart View = new Cart(); }
