package tern.sample.api;

import java.io.Serializable;

/**
 * A task that needs an agent.
 *
 * @param requestId the unique request id, chosen by the caller
 * @param skill the skill that the agent must have, such as "billing"
 */
public record ScheduleRequest(String requestId, String tenant, String skill) implements Serializable {}
