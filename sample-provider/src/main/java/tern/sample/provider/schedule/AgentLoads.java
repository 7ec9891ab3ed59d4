package tern.sample.provider.schedule;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Repository;
import tern.sample.provider.schedule.Agents.Agent;

/** How many tasks each agent has, counted in Redis. */
@Repository
class AgentLoads {

    private final StringRedisTemplate redis;
    private final boolean serial;

    AgentLoads(StringRedisTemplate redis, ScheduleProperties properties) {
        this.redis = redis;
        this.serial = properties.redis().serial();
    }

    /** All in one MGET, unless as many round trips are asked for. */
    int[] of(List<Agent> agents) {
        List<String> keys = agents.stream().map(AgentLoads::key).toList();
        Stream<@Nullable String> loads =
                serial ? keys.stream().map(redis.opsForValue()::get) : redis.opsForValue().multiGet(keys).stream();
        return loads.mapToInt(load -> load == null ? 0 : Integer.parseInt(load)).toArray();
    }

    int increment(Agent agent) {
        return redis.opsForValue().increment(key(agent)).intValue();
    }

    private static String key(Agent agent) {
        return "agent:" + agent.id() + ":load";
    }
}
