export { createLinks, type Links } from './links/create-links.ts';
export type { LinkKey } from './links/link-keys.ts';
