/** Reads a long list without keeping it: for tests that measure memory. */
import { connect } from 'node:net'
import { requestText } from '../../helpers/raw.ts'

export interface Counted {
	/** The number of `{"id":`. */
	readonly count: number
	/** The largest growth of this process's memory, in bytes. */
	readonly growth: number
}

/** Counts the records of a streamed answer. */
export function countRecords(port: number, path: string): Promise<Counted> {
	return new Promise((resolve, reject) => {
		const before = process.memoryUsage.rss()
		let count = 0
		let most = before
		let rest = ''
		const socket = connect(port, '127.0.0.1', () =>
			socket.write(requestText(`GET ${path}`, ['Connection: close'])),
		)
		socket.on('data', (chunk: Buffer) => {
			const text = rest + chunk.toString('latin1')
			count += text.split('{"id":').length - 1
			rest = text.slice(-5)
			most = Math.max(most, process.memoryUsage.rss())
		})
		socket.on('error', reject)
		socket.on('close', () => resolve({ count, growth: most - before }))
	})
}
