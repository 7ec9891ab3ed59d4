package tern.sample.api;

import java.io.Serializable;

/**
 * A task for which an agent is needed.
 *
 * @param requestId unique id, chosen by the caller
 * @param skill skill that the agent must have, such as "billing"
 */
public record ScheduleRequest(String requestId, String tenant, String skill) implements Serializable {}
