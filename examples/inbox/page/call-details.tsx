import type { ToolCall } from 'holdpoint';
import { Inert } from './inert.tsx';
import { Value } from './value.tsx';

/** A call as it would run: the tool and every argument. */
export function CallDetails({ call }: { call: Pick<ToolCall, 'toolName' | 'input'> }) {
  return (
    <div className="call">
      <p className="tool-name">
        <Inert text={call.toolName} />
      </p>
      <Value value={call.input} />
    </div>
  );
}
