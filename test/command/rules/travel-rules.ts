import { questionTools } from 'holdpoint/tools';
import { travelTools } from '../../support/travel-world.ts';

/* The tools of the agents whose lost calls and questions the tests settle and answer. */
export default { mayAnswer: () => true, tools: { ...travelTools([]), ...questionTools() } };
