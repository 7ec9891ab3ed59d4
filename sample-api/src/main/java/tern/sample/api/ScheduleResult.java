package tern.sample.api;

import java.io.Serializable;

/**
 * The agent chosen for a task.
 *
 * @param candidates the number of agents that were compared
 * @param load the number of tasks that the agent had before this task
 */
public record ScheduleResult(String requestId, long agentId, String agentName, int candidates, int load)
        implements Serializable {}
