/**
 * `UnsentAnswers`: how many bytes of answers are in memory because their clients haven't read them, in all and by caller.
 * Without a bound, a few hundred clients that ask for large answers and read nothing would use up the memory before the
 * send timeout of any of them passes. For `transport/`.
 */
import { type Linked, RecencyList } from '../base/recency-list.ts'
import type { Bytes } from '../base/time.ts'
import { callerOf } from '../limits/rate-limit.ts'

/** What node keeps of an answer besides its body: request, response, headers. Measured with pipelined requests. */
const OVERHEAD: Bytes = 6_000

/** What is cut off at once: a connection, or an HTTP/2 stream. */
export interface Channel {
	readonly destroyed?: boolean | undefined
	once?(event: 'close', call: () => void): unknown
}

/** Whose answer it is, and how to cut it off. */
export interface Reader {
	ip(): string
	/** Closes the channel, and logs it. */
	cutOff(): void
}

interface Caller {
	readonly address: string
	bytes: Bytes
	/** Backlogs with unsent bytes, the one that has waited longest first. */
	readonly backlogs: RecencyList<Backlog>
}

/** The unsent answers of a channel. */
interface Backlog extends Linked<Backlog> {
	bytes: Bytes
	/** The readers of the unsent answers, in order. */
	readonly readers: Set<Reader>
	/** Set while there are unsent bytes. */
	caller: Caller | undefined
	/** Set when the channel is closed, or cut off: its bytes no longer count. */
	isClosed: boolean
}

/** When the sum exceeds `max`, the caller with the most bytes is cut off: first the channel that has waited longest. */
export class UnsentAnswers {
	readonly #max: Bytes
	/** Callers with unsent bytes, by address. */
	readonly #callers = new Map<string, Caller>()
	/** Closed channels are garbage-collected. */
	readonly #backlogs = new WeakMap<Channel, Backlog>()
	#bytes: Bytes = 0

	constructor(max: Bytes) {
		this.#max = max
	}

	/** The sum of all callers. */
	get bytes(): Bytes {
		return this.#bytes
	}

	/** Returns a function to call with the number of unsent bytes of an answer's body, or `undefined` once all are sent. */
	counter(channel: Channel, reader: Reader): (body: Bytes | undefined) => void {
		const backlog = this.#backlogOf(channel)
		let counted = 0
		return (body) => {
			const bytes = body === undefined ? 0 : body + OVERHEAD
			if (bytes === counted || backlog.isClosed) return
			if (bytes === 0) backlog.readers.delete(reader)
			else backlog.readers.add(reader)
			this.#change(backlog, bytes - counted, reader)
			counted = bytes
			if (this.#bytes > this.#max) this.#enforce()
		}
	}

	#backlogOf(channel: Channel): Backlog {
		const known = this.#backlogs.get(channel)
		if (known !== undefined) return known
		const backlog: Backlog = {
			bytes: 0,
			readers: new Set(),
			caller: undefined,
			// A destroyed channel emits no further `close`.
			isClosed: channel.destroyed === true,
			older: undefined,
			newer: undefined,
		}
		this.#backlogs.set(channel, backlog)
		channel.once?.('close', () => this.#close(backlog))
		return backlog
	}

	#change(backlog: Backlog, by: Bytes, reader?: Reader): void {
		if (backlog.caller === undefined) {
			if (reader === undefined) return
			backlog.caller = this.#callerOf(reader)
			backlog.caller.backlogs.add(backlog)
		}
		const { caller } = backlog
		backlog.bytes += by
		caller.bytes += by
		this.#bytes += by
		if (backlog.bytes > 0) return
		caller.backlogs.remove(backlog)
		backlog.caller = undefined
		if (caller.bytes === 0) this.#callers.delete(caller.address)
	}

	#callerOf(reader: Reader): Caller {
		const address = reader.ip()
		const known = this.#callers.get(address)
		if (known !== undefined) return known
		const caller: Caller = { address, bytes: 0, backlogs: new RecencyList() }
		this.#callers.set(address, caller)
		return caller
	}

	/** Cuts off until the sum is within the bound. */
	#enforce(): void {
		while (this.#bytes > this.#max) {
			const backlog = this.#largest()?.backlogs.oldest
			if (backlog === undefined) return
			const [reader] = backlog.readers
			this.#close(backlog)
			reader?.cutOff()
		}
	}

	/**
	 * The address with the most bytes, in the network with the most: as for the shares of a cache, an IPv6 /48 is one caller,
	 * since a site can change its address within it at will.
	 */
	#largest(): Caller | undefined {
		const networks = new Map<string, { bytes: Bytes; largest: Caller }>()
		for (const caller of this.#callers.values()) {
			const { share } = callerOf(null, caller.address)
			const network = networks.get(share) ?? { bytes: 0, largest: caller }
			network.bytes += caller.bytes
			if (caller.bytes > network.largest.bytes) network.largest = caller
			networks.set(share, network)
		}
		let found: { readonly bytes: Bytes; readonly largest: Caller } | undefined
		for (const network of networks.values())
			if (found === undefined || network.bytes > found.bytes) found = network
		return found?.largest
	}

	/** Stops counting a channel at once: its memory is released a little later, and meanwhile others would be cut off too. */
	#close(backlog: Backlog): void {
		this.#change(backlog, -backlog.bytes)
		backlog.readers.clear()
		backlog.isClosed = true
	}
}
