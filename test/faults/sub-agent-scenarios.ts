import { memoryStore, type ThreadStore } from 'holdpoint';
import { subAgentFaults } from './audit-sub-agents.ts';
import { FaultPlan } from './mortal-process.ts';
import type { SubAgentScenario } from './paying-staff.ts';
import { converse, SubAgentWorld } from './sub-agent-world.ts';

/** The conversations of agents that work for each other, crashed at every point. */
export const subAgentScenarios: readonly SubAgentScenario[] = [
  {
    name: 'an agent that makes two payments for another, one of them rejected',
    agents: {
      manager: [['buyer', 'both']],
      buyer: [
        ['pay', 'Paris'],
        ['pay', 'Rome'],
      ],
    },
    approves: (city) => city === 'Paris',
  },
  {
    name: 'two siblings that wait at the same time',
    agents: {
      manager: [
        ['one', 'x'],
        ['two', 'y'],
      ],
      one: [['pay', 'Paris']],
      two: [['pay', 'Rome']],
    },
    approves: () => true,
  },
  {
    name: 'three levels',
    agents: { manager: [['buyer', 'x']], buyer: [['payer', 'y']], payer: [['pay', 'Paris']] },
    approves: () => true,
  },
  {
    name: 'an answer while another call of the agent runs',
    agents: {
      manager: [['buyer', 'x']],
      buyer: [
        ['slow', 'Oslo'],
        ['pay', 'Paris'],
      ],
    },
    approves: () => true,
    atWork: true,
  },
  {
    name: 'one agent that is stopped, and released',
    agents: {
      manager: [
        ['pay', 'Paris'],
        ['pay', 'Rome'],
      ],
    },
    approves: () => true,
    stops: true,
  },
  {
    name: 'an agent that is stopped with the one for which it works, and released',
    agents: { manager: [['buyer', 'x']], buyer: [['pay', 'Paris']] },
    approves: () => true,
    stops: true,
  },
  {
    name: 'three levels that are stopped, and released',
    agents: { manager: [['buyer', 'x']], buyer: [['payer', 'y']], payer: [['pay', 'Paris']] },
    approves: () => true,
    stops: true,
  },
];

/** Two siblings that ask for three payments at the same time, one of which is rejected. */
export const askingSiblings: SubAgentScenario = {
  name: 'siblings',
  agents: {
    manager: [
      ['one', 'x'],
      ['two', 'y'],
    ],
    one: [['pay', 'Paris']],
    two: [
      ['pay', 'Rome'],
      ['pay', 'Oslo'],
    ],
  },
  approves: (city) => city !== 'Oslo',
};

/** The scenario of this name. */
export function scenarioNamed(name: string): SubAgentScenario {
  const found = [...subAgentScenarios, askingSiblings].find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no scenario '${name}'.`);
  return found;
}

/** One conversation, whose process dies at each of the `deadly` points; audited. */
async function crashSubAgents(
  scenario: SubAgentScenario,
  deadly: readonly number[],
  store: ThreadStore,
) {
  const world = new SubAgentWorld(scenario, new FaultPlan(deadly), store);
  const end = await converse(world);
  const faults = [...subAgentFaults(world, await world.threads()), ...(await world.rowFaults())];
  if (end !== 'completed') faults.push(`It ${end}.`);
  return { points: world.plan.points, faults };
}

/** Which crashes are tried, and in which stores. */
interface CrashOptions {
  each?: number;
  inPairs?: boolean;
  /** Makes the store of one conversation; by default in memory. */
  open?: () => ThreadStore;
}

/** Crashes a scenario at every `each`th point, or pair of points, and returns what was broken. */
export async function crashSubAgentsEverywhere(
  scenario: SubAgentScenario,
  { each = 1, inPairs = false, open = memoryStore }: CrashOptions = {},
) {
  const broken: { deadly: number[]; faults: string[] }[] = [];
  const crash = async (deadly: number[]): Promise<number> => {
    const { points, faults } = await crashSubAgents(scenario, deadly, open());
    if (faults.length > 0) broken.push({ deadly, faults });
    return points;
  };
  const points = await crash([]);
  for (let first = 1; first <= points; first += 1) {
    const passed = await crash([first]);
    if (!inPairs) continue;
    for (let second = first + 1 + (first % each); second <= passed; second += each) {
      await crash([first, second]);
    }
  }
  return { points, broken };
}
