using Shop.Domain;
namespace Shop.Tests;
public class FakeStore : IStore { public void Save(Cart c){} public Cart Load(int id) => null; public Cart Load(string n) => null; }
public class T { public void Check() { var f = new FakeStore(); f.Save(null); new Shop.Domain.Pricing.Pricer(f).Price(null); } }
