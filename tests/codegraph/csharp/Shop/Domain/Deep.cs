namespace Shop
{
    namespace Domain
    {
        namespace Deep
        {
            public class Digger : Handler, IStore { public override void Handle(Cart c) {} public void Save(Cart c){} public Cart Load(int id) => null; public Cart Load(string n) => null; }
        }
    }
}
