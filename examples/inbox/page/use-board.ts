import { useCallback, useEffect, useRef, useState } from 'react';
import type { Board } from '../board.ts';
import { type OfficeClient, Refusal } from './office-client.ts';

/** The board, kept up to date. */
export interface LiveBoard {
  board: Board;
  /** How many changes the server has reported. */
  changes: number;
  /** Whether the server can be reached. */
  isConnected: boolean;
  /** Reads the board again now. */
  refresh: () => void;
}

const empty: Board = { viewer: '', conversations: [], entries: [] };
const retryMs = 1_000;

/** Reads the board, and again after each change that the server reports. */
export function useBoard(client: OfficeClient): LiveBoard {
  const [board, setBoard] = useState(empty);
  const [changes, setChanges] = useState(0);
  const [isConnected, setIsConnected] = useState(true);
  const reading = useRef<'no' | 'yes' | 'again'>('no');

  /* One read at a time, and one more after it if another change was reported meanwhile. */
  const refresh = useCallback(() => {
    if (reading.current !== 'no') {
      reading.current = 'again';
      return;
    }
    const read = async (): Promise<void> => {
      do {
        reading.current = 'yes';
        setBoard(await client.board());
      } while (reading.current !== 'yes');
      setIsConnected(true);
    };
    read()
      .catch((error: unknown) => {
        /* The person may not read it any more. */
        if (error instanceof Refusal) setBoard(empty);
        setIsConnected(false);
        setTimeout(refresh, retryMs);
      })
      .finally(() => (reading.current = 'no'));
  }, [client]);

  useEffect(() => {
    const changed = (): void => {
      setChanges((count) => count + 1);
      refresh();
    };
    return client.follow(changed, () => setIsConnected(false));
  }, [client, refresh]);
  return { board, changes, isConnected, refresh };
}
