package tern.sample.api;

import java.io.Serializable;

/**
 * Who does the task.
 *
 * @param candidates how many agents were compared
 * @param load tasks that the chosen agent had before
 */
public record ScheduleResult(String requestId, long agentId, String agentName, int candidates, int load)
        implements Serializable {}
