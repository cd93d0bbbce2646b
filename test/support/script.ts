import type { LanguageModel } from 'ai';
import type { ScriptedStep } from 'holdpoint/testing';

export type { ScriptedStep } from 'holdpoint/testing';

/** A call of a step. */
export type ScriptedCall = NonNullable<ScriptedStep['calls']>[number];

/** A model that plays a script. */
export interface PlayedModel extends AsyncDisposable {
  model: LanguageModel;
  /** How many requests it has got. */
  readonly requests: number;
  /** What the requests broke of the provider's rules. Absent where nothing checks them. */
  readonly violations?: readonly string[];
  /** The bodies of the requests as they came over the wire. Absent in memory. */
  readonly bodies?: readonly unknown[];
}

/** A way to play scripts: in memory, or through a real provider package against a local server. */
export interface ModelKit {
  name: string;
  /** `false` where the provider's API has no text for a call's input: a script can't send one that is not valid JSON. */
  canSendRawInput?: boolean;
  /** `false` where the provider's package gives the later of two streamed calls of one id a fresh one. */
  canStreamRepeatedIds?: boolean;
  play(script: ScriptedStep[]): Promise<PlayedModel>;
}
