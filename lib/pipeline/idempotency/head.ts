/** What the head of a request says of its `Idempotency-Key`: refused before the body is read where it can't be kept. */

import { RestError } from '../../base/error.ts'
import type { Action } from '../../exchange/action.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { MountFacts } from '../../exchange/mount-facts.ts'
import { fieldLines } from '../../request/head.ts'
import { keyOf } from './key.ts'

const HEADER = 'idempotency-key'

/**
 * Leaves the key in the exchange, where the request is one to be run once: a POST or a PATCH, as the other methods
 * are idempotent by themselves (RFC 9110 §9.2.2).
 *
 * @throws RestError `bad_request` for a malformed key, where nobody is known and the handler hasn't opted in, and
 *   for a method that streams its body
 */
export function readIdempotencyKey(exchange: Exchange, mount: MountFacts, action: Action): void {
	const { headers, method, incoming, user } = exchange
	if (headers[HEADER] === undefined || mount.idempotencyKeys === 'off') return
	if (method !== 'POST' && method !== 'PATCH') return
	const key = keyOf(fieldLines(incoming, HEADER))
	if (user === null && mount.idempotencyKeys !== 'anyone') {
		throw new RestError(
			'bad_request',
			'An Idempotency-Key is kept for known users only: send credentials, or no key',
		)
	}
	if (action.streaming !== undefined)
		throw new RestError('bad_request', 'No Idempotency-Key can be kept for a body that is streamed')
	exchange.idempotencyKey = key
}
