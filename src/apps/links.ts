export { createLinks, type Links, type LinksOptions } from './links/create-links.ts';
export type { LinkKey } from './links/link-keys.ts';
