global using Shop.Domain;
