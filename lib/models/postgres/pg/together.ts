/**
 * `Together`: inserts that wait at the same time are sent in one transaction, which the server writes to its disk
 * once. Where one of them fails, all are undone, and each is sent again by itself: no request is answered for
 * another's mistake. One `Together` for one text. Used by `inserts.ts`.
 */
import type { Due } from '../../../base/deadlines.ts'
import type { Milliseconds } from '../../../base/time.ts'
import type { Rows, Statement } from '../../sql/driver.ts'
import { NotSent } from '../errors.ts'

/** More leave too little to be gathered; with fewer, one that waits for a lock stops too many others. */
const MOST_IN_FLIGHT = 4
/** Of one transaction: what it holds locked stays so until the last of them is done. */
const MOST_TOGETHER = 32

/** What sends them: `PgInserts`. */
export interface Sender {
	/** Begins to look after one that waits for its turn; `expire` is called when that takes too long. */
	begin(item: Due): void
	end(item: Due): void
	/**
	 * Calls `take` when there is a connection, for those that are to be sent on it, and answers when others may be sent:
	 * when it is free again, or when it has been held up for some time.
	 */
	send(take: Take): Promise<void>
	/** Called when nothing waits any more. */
	idle(): void
}

/** Takes those out of the queue who are to be sent; those whose time ends by `latest`, where that is given. */
export type Take = (latest?: Milliseconds) => readonly Insert[]

export class Together {
	readonly #sender: Sender
	#waiting: Insert[] = []
	#inFlight = 0
	#scheduled = false

	constructor(sender: Sender) {
		this.#sender = sender
	}

	query(statement: Statement): Promise<Rows> {
		return new Promise((resolve, reject) => {
			const insert = new Insert(statement, resolve, reject)
			this.#sender.begin(insert)
			this.#waiting.push(insert)
			// One that is alone is never slower than it would be: the others wait for the end of the turn.
			if (this.#inFlight === 0) this.#pump()
			else if (this.#inFlight < MOST_IN_FLIGHT && !this.#scheduled) {
				this.#scheduled = true
				setImmediate(() => {
					this.#scheduled = false
					this.#pump()
				})
			}
		})
	}

	/** Asks for as many connections as those who wait fill. Whose time is over are the oldest: they leave the queue here. */
	#pump(): void {
		while (this.#waiting[0]?.isOver === true) this.#waiting.shift()
		let unsent = this.#waiting.length
		while (unsent > 0 && this.#inFlight < MOST_IN_FLIGHT) {
			unsent -= MOST_TOGETHER
			this.#send()
		}
		if (this.#inFlight === 0 && !this.#scheduled) this.#sender.idle()
	}

	#send(): void {
		this.#inFlight++
		// Never rejects: what goes wrong is handed to those who wait.
		void this.#sender
			.send((latest) => this.#take(latest))
			.then(() => {
				this.#inFlight--
				this.#pump()
			})
	}

	/** Who has lost patience meanwhile has been told so, and isn't sent. */
	#take(latest = Number.POSITIVE_INFINITY): readonly Insert[] {
		const taken: Insert[] = []
		for (;;) {
			const [insert] = this.#waiting
			if (insert === undefined || insert.due > latest || taken.length === MOST_TOGETHER) return taken
			this.#waiting.shift()
			if (insert.isOver) continue
			this.#sender.end(insert)
			taken.push(insert)
		}
	}
}

/** One that waits. */
export class Insert implements Due {
	due: Milliseconds = 0
	earlier: Due | undefined = undefined
	later: Due | undefined = undefined
	waiting = false
	isOver = false
	readonly statement: Statement
	readonly resolve: (rows: Rows) => void
	readonly reject: (error: unknown) => void

	constructor(statement: Statement, resolve: (rows: Rows) => void, reject: (error: unknown) => void) {
		this.statement = statement
		this.resolve = resolve
		this.reject = reject
	}

	expire(): void {
		this.isOver = true
		this.reject(new NotSent(undefined))
	}
}
