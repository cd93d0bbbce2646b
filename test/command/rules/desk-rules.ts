import { deciders } from '../../acts/acts.ts';
import { deskTools } from '../../acts/scenes.ts';

/* What `--rules` names. */
export default {
  mayAnswer: ({ principal }: { principal: unknown }) => deciders.includes(principal),
  tools: deskTools(),
};
