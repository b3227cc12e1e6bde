/** The expert's server, with the reads of a turn of the loop gathered by DataLoader. */
import DataLoader from 'dataloader'
import { serve } from './expert.js'

export async function start(app) {
	return serve(app, ({ readAll }) => {
		const options = { cache: false, maxBatchSize: 100, batchScheduleFn: setImmediate }
		const loader = new DataLoader(readAll, options)
		return (id) => loader.load(id)
	})
}
