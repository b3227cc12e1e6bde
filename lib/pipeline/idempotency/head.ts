/** What the head of a request says of its `Idempotency-Key`: refused before the body is read where it can't be kept. */

import { RestError } from '../../base/error.ts'
import type { Routed } from '../../exchange/exchange.ts'
import { fieldLines } from '../../request/head.ts'
import { keyOf } from './key.ts'

const HEADER = 'idempotency-key'

/**
 * Leaves the key in the exchange, where the request is one to be run once: a POST or a PATCH, as the other methods
 * are idempotent by themselves (RFC 9110 §9.2.2). What `before` answers in the method's place is no run of it.
 *
 * @throws RestError `bad_request` for a malformed key, where nobody is known and the handler hasn't opted in, and
 *   for a method that streams its body
 */
export function readIdempotencyKey(exchange: Routed, early: unknown): unknown {
	const { headers, method, incoming, user, mount, action } = exchange
	if (headers[HEADER] === undefined || mount.idempotencyKeys === 'off') return early
	if (early !== undefined || (method !== 'POST' && method !== 'PATCH')) return early
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
	return undefined
}
