import { z } from 'zod';
import type { ScriptedStep } from '../support/script.ts';

/** A request that a server must refuse, and what it must say. Each has one fault. */
export interface ViolationRow {
  name: string;
  /** The conversation, in the API's own words; made of the answer to a first good request where there is a `script`. */
  conversation: object[] | ((given: GivenPart[]) => object[]);
  /** What the server answers to the first good request. */
  script?: ScriptedStep;
  /** What else the body has. */
  settings?: object;
  expected: RegExp;
}

const givenPart = z.looseObject({ type: z.string() });

/** A part of an answer as a server gave it. */
export type GivenPart = z.infer<typeof givenPart>;

/** The parts of an answer. */
export const givenParts = z.array(givenPart);
