/**
 * Runs one server in its own process. The first message from the parent says what to serve, and is answered with the port;
 * every further message is answered with the CPU time that this process has used.
 */
process.once('message', async (app) => {
	const { start } = await import(`./${process.argv[2]}.js`)
	const port = await start(app)
	process.on('message', () => process.send({ cpu: process.cpuUsage() }))
	process.send({ port })
})
process.on('disconnect', () => process.exit())
