import * as assert from 'uvu/assert'
import { traceOf, traceparentOf } from '../../lib/request/traceparent.ts'
import { describe } from '../helpers/describe.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const WHOLE = `00-${TRACE}-${PARENT}-01`

/** Each header, and what may be passed on of it. */
const HEADERS: [header: unknown, passed: string | undefined][] = [
	[WHOLE, WHOLE],
	[`00-${TRACE}-${PARENT}-00`, `00-${TRACE}-${PARENT}-00`],
	// Flags that version 00 doesn't know are the sender's (§3.2.2.5).
	[`00-${TRACE}-${PARENT}-ff`, `00-${TRACE}-${PARENT}-ff`],
	// Of a version to come, what version 00 says (§4.3).
	[`01-${TRACE}-${PARENT}-01`, WHOLE],
	[`cc-${TRACE}-${PARENT}-ff-what-the-future-is`, WHOLE],
	[`01-${TRACE}-${PARENT}-02`, `00-${TRACE}-${PARENT}-00`],
	[`cc-${TRACE}-${PARENT}-01.what`, undefined],
	[`00-${TRACE}-${PARENT}-01-more`, undefined],
	[`00-${TRACE}-${PARENT}-01-`, undefined],
	[`ff-${TRACE}-${PARENT}-01`, undefined],
	[`00-${'0'.repeat(32)}-${PARENT}-01`, undefined],
	[`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
	[WHOLE.toUpperCase(), undefined],
	[`00-${TRACE.slice(1)}-${PARENT}-01`, undefined],
	[`00-${TRACE}x-${PARENT}-01`, undefined],
	[`00-${TRACE}-${PARENT}`, undefined],
	[`00-${TRACE}-${PARENT}-1`, undefined],
	[`0-${TRACE}-${PARENT}-01`, undefined],
	[` ${WHOLE}`, undefined],
	[`${WHOLE}\n`, undefined],
	[`${WHOLE}, ${WHOLE}`, undefined],
	['', undefined],
	[undefined, undefined],
	[[WHOLE], undefined],
]

describe('traceparent', (test) => {
	for (const [header, passed] of HEADERS) {
		test(`${JSON.stringify(header)} is passed on as ${passed}`, () =>
			assert.is(traceparentOf(header), passed))
	}

	test('the id of the trace is a part of it', () => {
		assert.equal(traceOf(WHOLE), { traceId: TRACE })
		assert.is(traceOf('00-x'), undefined)
	})
})
