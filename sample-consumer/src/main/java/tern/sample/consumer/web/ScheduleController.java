package tern.sample.consumer.web;

import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import tern.rpc.spring.RpcReference;
import tern.sample.api.ScheduleException;
import tern.sample.api.ScheduleRequest;
import tern.sample.api.ScheduleResult;
import tern.sample.api.ScheduleService;

@RestController
class ScheduleController {

    private final ScheduleService schedule;

    ScheduleController(@RpcReference ScheduleService schedule) {
        this.schedule = schedule;
    }

    /**
     * A task that needs an agent.
     *
     * @param requestId the request id; generated if absent
     */
    record Task(
            @Nullable String requestId,
            @NotBlank String tenant,
            @NotBlank String skill) {}

    @PostMapping("/schedule")
    ScheduleResult schedule(@Valid @RequestBody Task task) throws ScheduleException {
        String requestId = task.requestId() == null ? UUID.randomUUID().toString() : task.requestId();
        return schedule.schedule(new ScheduleRequest(requestId, task.tenant(), task.skill()));
    }
}
