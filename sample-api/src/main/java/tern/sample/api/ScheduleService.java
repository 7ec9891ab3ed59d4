package tern.sample.api;

import tern.rpc.RpcMethod;

/**
 * Gives a task to the least busy of some agents. What a call costs is typical of a busy service: one authorization
 * over HTTP, 40 keys from Redis, three SQL statements, a few log lines, and one task for a bounded pool.
 */
public interface ScheduleService {

    /**
     * Chooses an agent. The request's number makes a repetition harmless: the assignment is written once under it.
     *
     * @throws ScheduleException if the tenant may not schedule, or no agent has the skill
     * @throws tern.rpc.RpcException RESOURCE_EXHAUSTED if too many assignments wait to be announced
     */
    @RpcMethod(idempotent = true)
    ScheduleResult schedule(ScheduleRequest request) throws ScheduleException;
}
