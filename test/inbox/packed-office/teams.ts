import { readFileSync } from 'node:fs';
import { z } from 'zod';

const teamsSchema = z.record(z.string(), z.array(z.string()));

/** The teams of a person, as `teams.json` has them at this moment. */
export function teamsOf(name: string): string[] {
  const teams = teamsSchema.parse(JSON.parse(readFileSync('teams.json', 'utf8')));
  return Object.keys(teams).filter((team) => teams[team]?.includes(name));
}
