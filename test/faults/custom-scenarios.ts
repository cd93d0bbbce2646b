import { mixed, paris, type Scenario, two } from './scenario.ts';

/** Conversations with a custom agent, which asks whether its plan is right before it makes the calls that need approval. */
export const customScenarios: readonly Scenario[] = [
  { name: 'a custom agent that asks about its plan', turns: [mixed], isCustom: true },
  {
    name: 'a custom agent of two turns, settled where need be',
    turns: [mixed, paris],
    isCustom: true,
    settles: true,
    isAlwaysCompleted: true,
  },
  {
    name: 'a custom agent, answers recorded first, run later',
    turns: [two],
    isCustom: true,
    responds: true,
    oneByOne: true,
  },
  {
    name: 'two processes that answer a custom agent',
    turns: [paris],
    isCustom: true,
    processes: 2,
  },
  {
    name: 'a custom agent that fails, with tools that are idempotent',
    turns: [mixed],
    isCustom: true,
    fails: 2,
    maxAttempts: 3,
    isAlwaysCompleted: true,
  },
  {
    name: 'a custom agent that is adopted after a crash',
    turns: [mixed],
    isCustom: true,
    adopts: 'after a crash',
    settles: true,
    isAlwaysCompleted: true,
  },
];
