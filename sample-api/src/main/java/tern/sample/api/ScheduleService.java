package tern.sample.api;

import tern.rpc.RpcMethod;

/**
 * Assigns a task to the least busy of several agents. A call makes one HTTP request for authorization, reads 40 keys
 * from Redis, runs three SQL statements, writes a few log lines, and submits one task to a bounded pool. A typical busy
 * service does a similar amount of work per call.
 */
public interface ScheduleService {

    /**
     * Chooses an agent. A repeated request is harmless, because the assignment is stored only once per request id.
     *
     * @throws ScheduleException if the tenant is not allowed to schedule, or no agent has the skill
     * @throws tern.rpc.RpcException RESOURCE_EXHAUSTED if the queue of announcements is full
     */
    @RpcMethod(idempotent = true)
    ScheduleResult schedule(ScheduleRequest request) throws ScheduleException;
}
