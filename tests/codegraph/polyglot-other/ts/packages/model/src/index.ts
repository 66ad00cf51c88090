export * from './book';
export { Shelf } from './shelf';
export type { Reader as Person } from './reader';
import createIndex from './search';
export { createIndex };
