package tern.sample.provider.schedule;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.spring.RpcService;
import tern.sample.api.ScheduleException;
import tern.sample.api.ScheduleException.Reason;
import tern.sample.api.ScheduleRequest;
import tern.sample.api.ScheduleResult;
import tern.sample.api.ScheduleService;
import tern.sample.provider.schedule.Agents.Agent;

@RpcService
class AgentScheduler implements ScheduleService {

    private static final Logger log = LoggerFactory.getLogger(AgentScheduler.class);

    private final Authorization authorization;
    private final Agents agents;
    private final AgentLoads loads;
    private final Executor bind;
    private final CallCost cost;

    AgentScheduler(
            Authorization authorization,
            Agents agents,
            AgentLoads loads,
            @Qualifier(ScheduleConfiguration.BIND) Executor bind,
            CallCost cost) {
        this.authorization = authorization;
        this.agents = agents;
        this.loads = loads;
        this.bind = bind;
        this.cost = cost;
    }

    @Override
    public ScheduleResult schedule(ScheduleRequest request) throws ScheduleException {
        if (!authorization.allows(request.tenant())) {
            throw new ScheduleException(Reason.TENANT_REFUSED, "tenant " + request.tenant() + " may not schedule");
        }
        int candidateLimit = agents.candidateLimit(request.tenant());
        List<Agent> candidates = agents.withSkill(request.skill(), candidateLimit);
        if (candidates.isEmpty()) {
            throw new ScheduleException(Reason.NO_AGENT, "no agent has the skill " + request.skill());
        }
        log.info("{}: {} agents have the skill {}", request.requestId(), candidates.size(), request.skill());

        cost.ofCall(request.requestId());
        int[] load = loads.of(candidates);
        int chosen = leastLoaded(load);
        Agent agent = candidates.get(chosen);
        if (agents.assign(request, agent)) {
            bind(request, agent);
        } else {
            agent = agents.assigned(request.requestId());
        }
        log.info("{}: given to {}, who has {} tasks", request.requestId(), agent.name(), load[chosen]);
        return new ScheduleResult(request.requestId(), agent.id(), agent.name(), candidates.size(), load[chosen]);
    }

    private static int leastLoaded(int[] load) {
        int least = 0;
        for (int i = 1; i < load.length; i++) {
            if (load[i] < load[least]) {
                least = i;
            }
        }
        return least;
    }

    private void bind(ScheduleRequest request, Agent agent) {
        try {
            bind.execute(() -> {
                cost.ofTask();
                int now = loads.increment(agent);
                log.info("{}: {} has {} tasks now", request.requestId(), agent.name(), now);
            });
        } catch (RejectedExecutionException e) {
            throw new RpcException(
                    StatusCode.RESOURCE_EXHAUSTED, String.valueOf(e.getMessage()), RpcException.Executed.YES, e);
        }
    }
}
