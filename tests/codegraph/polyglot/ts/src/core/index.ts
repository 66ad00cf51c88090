export { Cart, Item as CartItem } from './cart';
export * from './clock';
export { default as Money, format as show } from './money';
export * as money from './money';
