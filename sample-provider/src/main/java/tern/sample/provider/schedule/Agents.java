package tern.sample.provider.schedule;

import java.time.LocalDateTime;
import java.util.List;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import tern.sample.api.ScheduleRequest;

/** Reads and writes tenants, agents and assignments in an SQL database. Each method runs one statement. */
@Repository
class Agents {

    record Agent(long id, String name) {}

    private final JdbcClient jdbc;

    Agents(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the maximum number of agents to compare for this tenant, or 0 if the tenant is unknown. */
    int candidateLimit(String tenant) {
        return jdbc.sql("select candidate_limit from tenants where name = ?")
                .param(tenant)
                .query(Integer.class)
                .optional()
                .orElse(0);
    }

    List<Agent> withSkill(String skill, int limit) {
        return jdbc.sql("select id, name from agents where skill = ? order by id limit ?")
                .params(skill, limit)
                .query((row, index) -> new Agent(row.getLong(1), row.getString(2)))
                .list();
    }

    /** Returns the agent assigned to this request. */
    Agent assigned(String requestId) {
        return jdbc.sql(
                        "select a.id, a.name from agents a join assignments s on s.agent_id = a.id where s.request_id = ?")
                .param(requestId)
                .query((row, index) -> new Agent(row.getLong(1), row.getString(2)))
                .single();
    }

    /**
     * Assigns an agent to a request.
     *
     * @return false if the request already has an agent
     */
    boolean assign(ScheduleRequest request, Agent agent) {
        try {
            jdbc.sql("insert into assignments (request_id, tenant, agent_id, create_time) values (?, ?, ?, ?)")
                    .params(request.requestId(), request.tenant(), agent.id(), LocalDateTime.now())
                    .update();
            return true;
        } catch (DuplicateKeyException e) {
            return false;
        }
    }
}
