package tern.sample.provider.schedule;

import java.util.List;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Repository;
import tern.sample.provider.schedule.Agents.Agent;

/** How many tasks each agent has, counted in Redis. */
@Repository
class AgentLoads {

    private final StringRedisTemplate redis;

    AgentLoads(StringRedisTemplate redis) {
        this.redis = redis;
    }

    /** All in one MGET: as many GETs would be as many round trips. */
    int[] of(List<Agent> agents) {
        List<String> loads = redis.opsForValue()
                .multiGet(agents.stream().map(AgentLoads::key).toList());
        return loads.stream()
                .mapToInt(load -> load == null ? 0 : Integer.parseInt(load))
                .toArray();
    }

    int increment(Agent agent) {
        return redis.opsForValue().increment(key(agent)).intValue();
    }

    private static String key(Agent agent) {
        return "agent:" + agent.id() + ":load";
    }
}
