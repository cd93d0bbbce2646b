import type { Scenario } from './scenario.ts';

/** Two calls that the provider runs. */
const opening = {
  message: 'Open two',
  calls: [
    ['mcp.open', 'Paris'],
    ['mcp.open', 'Rome'],
  ],
} as const;
/** Calls of the provider around calls of ours. */
const between = {
  message: 'Open, look, and book',
  calls: [
    ['mcp.open', 'Paris'],
    ['look', 'Oslo'],
    ['book', 'Rome'],
    ['mcp.open', 'Oslo'],
  ],
} as const;
const notOslo = (input: string): boolean => !input.includes('Oslo');

/** Conversations with calls that the provider runs, and asks about. */
export const providerScenarios: readonly Scenario[] = [
  {
    name: 'calls that the provider runs, one approved, one rejected',
    turns: [opening, { message: 'And Oslo', calls: [['mcp.open', 'Oslo']] }],
    approves: notOslo,
    isAlwaysCompleted: true,
  },
  {
    name: 'calls that the provider runs, answers recorded first, run later',
    turns: [opening],
    responds: true,
    oneByOne: true,
    isAlwaysCompleted: true,
  },
  {
    name: 'two processes that answer for the provider',
    turns: [opening],
    processes: 2,
    isAlwaysCompleted: true,
  },
  {
    name: 'calls of the provider and of ours, answered one by one',
    turns: [between],
    approves: notOslo,
    oneByOne: true,
  },
];
