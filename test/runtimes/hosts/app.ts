import { world } from './plays.ts';

/* The app that the documented Durable Object is part of. */
export const { model, tools, toolApproval, ran } = world();
export const authorize = () => ({ principal: 'ann' });
