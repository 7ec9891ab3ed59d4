package tern.sample.api;

import java.io.Serializable;

/**
 * A task that wants an agent.
 *
 * @param requestId chosen by the caller, unique
 * @param skill what the agent must know, such as "billing"
 */
public record ScheduleRequest(String requestId, String tenant, String skill) implements Serializable {}
