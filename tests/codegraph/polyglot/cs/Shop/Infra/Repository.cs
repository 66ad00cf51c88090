using Shop.Common;
using Shop.Domain;

namespace Shop.Infra;

public interface IRepository<T>
{
    T Load(int id);
    void Save(T entity);
}

public class Repository<T> : IRepository<T> where T : Entity
{
    public T Load(int id) => default;

    public void Save(T entity)
    {
    }
}

public class CartRepository : Repository<Cart>
{
    public int Heavy()
    {
        return Load(1).Total();
    }
}
