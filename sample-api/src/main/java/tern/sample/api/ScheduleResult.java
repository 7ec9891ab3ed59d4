package tern.sample.api;

import java.io.Serializable;

/**
 * The agent that was chosen for a task.
 *
 * @param candidates number of agents that were compared
 * @param load number of tasks that the chosen agent had before
 */
public record ScheduleResult(String requestId, long agentId, String agentName, int candidates, int load)
        implements Serializable {}
