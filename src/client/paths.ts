/**
 * The operator API as types, for openapi-fetch. Generated from the OpenAPI document by `npm run generate`: change the
 * contracts, not this file.
 */

export type Json =
  | string
  | number
  | boolean
  | null
  | Json[]
  | {
      [k: string]: Json;
    };

export interface paths {
  '/api/tows': {
    get: {
      parameters: {
        query?: {
          cursor?: string | undefined;
          limit?: number | undefined;
          state?: ('requested' | 'started' | 'detained' | 'released' | 'canceled') | undefined;
          q?: string | undefined;
          attention?: ('true' | 'false') | undefined;
          unsent?: ('true' | 'false') | undefined;
          overdue?: ('true' | 'false') | undefined;
          crew?: string | undefined;
          order?: ('newest' | 'oldest') | undefined;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': {
              items: Tow[];
              next_cursor: string | null;
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}': {
    get: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': Tow;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/started': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            plate_number?: string | undefined;
            towed_location?: string | undefined;
            latitude?: number | undefined;
            longitude?: number | undefined;
            occurred_at?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/detained': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            occurred_at?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/canceled': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            cancellation_reason: string;
            occurred_at?: string | undefined;
            reason?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/released': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            occurred_at?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/invoice': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            vehicle_type: string;
            delay_in_days?: number | undefined;
            override_reason?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/payment': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            payment_status?: string | undefined;
            external_reference?: string | undefined;
            occurred_at?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/reports/{report_id}/retry': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
          report_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {};
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/reports/{report_id}/correct': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
          report_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            plate_number?: string | undefined;
            towed_location?: string | undefined;
            latitude?: number | undefined;
            longitude?: number | undefined;
            status_update_time?: string | undefined;
            cancellation_reason?: string | undefined;
            vehicle_type?: string | undefined;
            delay_in_days?: number | undefined;
            payment_status?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/reports/{report_id}/waive': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
          report_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            reason: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/reports/{report_id}/accept': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
          report_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            reason: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/violation': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            violation_id: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/assignment': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            crew: string | null;
            truck?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/steps': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            step: 'accepted' | 'en_route' | 'on_scene' | 'hooked';
            occurred_at?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/yard': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            yard: string;
            slot?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/holds': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            reason: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/holds/{hold_id}/lift': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
          hold_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            reason: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/notes': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            text: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/photos': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'multipart/form-data': {
            images?: Blob[] | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/photos/{photo_id}': {
    get: {
      parameters: {
        path: {
          towing_reference_id: string;
          photo_id: string;
        };
      };
      responses: {
        200: {
          content: {
            'image/*': Blob;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/violations': {
    get: {
      parameters: {
        query?: {
          cursor?: string | undefined;
          limit?: number | undefined;
          state?: ('pending' | 'held' | 'sending' | 'unknown' | 'refused' | 'accepted' | 'waived') | undefined;
          q?: string | undefined;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': {
              items: Violation[];
              next_cursor: string | null;
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
    post: {
      parameters: {
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'multipart/form-data': {
            date?: string | undefined;
            latitude: number;
            longitude: number;
            location: string;
            plateNumber: string;
            plateType:
              | 'PRIVATE'
              | 'PUBLIC_TRANSPORTATION'
              | 'PRIVATE_TRANSPORTATION'
              | 'PUBLIC_MINIBUS'
              | 'PRIVATE_MINIBUS'
              | 'TAXI'
              | 'Heavy_Equipment'
              | 'EXPORT'
              | 'DIPLOMATIC'
              | 'MOTORCYCLE';
            zoneId: string;
            imagesDescription?: string | undefined;
            violationType:
              | 'NO_TICKET'
              | 'TICKET_ENDED'
              | 'USER_EXCEED_PARKING_TIME'
              | 'WRONG_PARKING'
              | 'RESERVED_PARKING'
              | 'OBS_CLS_PARKING'
              | 'EMRG_PARKING'
              | 'ENT_EXT_PARKING'
              | 'PROH_PARKING';
            isSaudi?: boolean | undefined;
            metadata?: JsonObject | undefined;
            fullName?: string | undefined;
            identityNumber?: string | undefined;
            mobileNumber?: string | undefined;
            supervisorFullName?: string | undefined;
            supervisorIdentityNumber?: string | undefined;
            supervisorMobileNumber?: string | undefined;
            images?: Blob[] | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Violation;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/violations/known': {
    post: {
      parameters: {
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            violations: {
              violation_reference_id?: string | undefined;
              metadata_id?: string | undefined;
              plateNumber: string;
              location: string;
              latitude: number;
              longitude: number;
              plateType?:
                | (
                    | 'PRIVATE'
                    | 'PUBLIC_TRANSPORTATION'
                    | 'PRIVATE_TRANSPORTATION'
                    | 'PUBLIC_MINIBUS'
                    | 'PRIVATE_MINIBUS'
                    | 'TAXI'
                    | 'Heavy_Equipment'
                    | 'EXPORT'
                    | 'DIPLOMATIC'
                    | 'MOTORCYCLE'
                  )
                | undefined;
              zoneId?: string | undefined;
              violationType?:
                | (
                    | 'NO_TICKET'
                    | 'TICKET_ENDED'
                    | 'USER_EXCEED_PARKING_TIME'
                    | 'WRONG_PARKING'
                    | 'RESERVED_PARKING'
                    | 'OBS_CLS_PARKING'
                    | 'EMRG_PARKING'
                    | 'ENT_EXT_PARKING'
                    | 'PROH_PARKING'
                  )
                | undefined;
              date?: string | undefined;
            }[];
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': {
              items: {
                id: string;
                result: 'created' | 'already_known';
              }[];
            };
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/violations/{violation_id}': {
    get: {
      parameters: {
        path: {
          violation_id: string;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': Violation;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/violations/{violation_id}/images/{image_number}': {
    get: {
      parameters: {
        path: {
          violation_id: string;
          image_number: string;
        };
      };
      responses: {
        200: {
          content: {
            'image/*': Blob;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/violations/{violation_id}/retry': {
    post: {
      parameters: {
        path: {
          violation_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {};
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Violation;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/violations/{violation_id}/correct': {
    post: {
      parameters: {
        path: {
          violation_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            date?: (string | null) | undefined;
            latitude?: number | undefined;
            longitude?: number | undefined;
            location?: string | undefined;
            plateNumber?: string | undefined;
            plateType?:
              | (
                  | 'PRIVATE'
                  | 'PUBLIC_TRANSPORTATION'
                  | 'PRIVATE_TRANSPORTATION'
                  | 'PUBLIC_MINIBUS'
                  | 'PRIVATE_MINIBUS'
                  | 'TAXI'
                  | 'Heavy_Equipment'
                  | 'EXPORT'
                  | 'DIPLOMATIC'
                  | 'MOTORCYCLE'
                )
              | undefined;
            zoneId?: string | undefined;
            imagesDescription?: (string | null) | undefined;
            violationType?:
              | (
                  | 'NO_TICKET'
                  | 'TICKET_ENDED'
                  | 'USER_EXCEED_PARKING_TIME'
                  | 'WRONG_PARKING'
                  | 'RESERVED_PARKING'
                  | 'OBS_CLS_PARKING'
                  | 'EMRG_PARKING'
                  | 'ENT_EXT_PARKING'
                  | 'PROH_PARKING'
                )
              | undefined;
            isSaudi?: (boolean | null) | undefined;
            fullName?: (string | null) | undefined;
            identityNumber?: (string | null) | undefined;
            mobileNumber?: (string | null) | undefined;
            supervisorFullName?: (string | null) | undefined;
            supervisorIdentityNumber?: (string | null) | undefined;
            supervisorMobileNumber?: (string | null) | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Violation;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/violations/{violation_id}/images': {
    post: {
      parameters: {
        path: {
          violation_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'multipart/form-data': {
            date?: string | undefined;
            latitude?: number | undefined;
            longitude?: number | undefined;
            location?: string | undefined;
            plateNumber?: string | undefined;
            plateType?:
              | (
                  | 'PRIVATE'
                  | 'PUBLIC_TRANSPORTATION'
                  | 'PRIVATE_TRANSPORTATION'
                  | 'PUBLIC_MINIBUS'
                  | 'PRIVATE_MINIBUS'
                  | 'TAXI'
                  | 'Heavy_Equipment'
                  | 'EXPORT'
                  | 'DIPLOMATIC'
                  | 'MOTORCYCLE'
                )
              | undefined;
            zoneId?: string | undefined;
            imagesDescription?: string | undefined;
            violationType?:
              | (
                  | 'NO_TICKET'
                  | 'TICKET_ENDED'
                  | 'USER_EXCEED_PARKING_TIME'
                  | 'WRONG_PARKING'
                  | 'RESERVED_PARKING'
                  | 'OBS_CLS_PARKING'
                  | 'EMRG_PARKING'
                  | 'ENT_EXT_PARKING'
                  | 'PROH_PARKING'
                )
              | undefined;
            isSaudi?: boolean | undefined;
            fullName?: string | undefined;
            identityNumber?: string | undefined;
            mobileNumber?: string | undefined;
            supervisorFullName?: string | undefined;
            supervisorIdentityNumber?: string | undefined;
            supervisorMobileNumber?: string | undefined;
            images?: Blob[] | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Violation;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/violations/{violation_id}/waive': {
    post: {
      parameters: {
        path: {
          violation_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            reason: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Violation;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/violations/{violation_id}/accept': {
    post: {
      parameters: {
        path: {
          violation_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            reason: string;
            violation_reference_id?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Violation;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/zones/{zone_id}/capacity': {
    get: {
      parameters: {
        path: {
          zone_id: string;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': Capacity;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tickets/check': {
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': {
            zoneId: string;
            plateNumber: string;
            plateType:
              | 'PRIVATE'
              | 'PUBLIC_TRANSPORTATION'
              | 'PRIVATE_TRANSPORTATION'
              | 'PUBLIC_MINIBUS'
              | 'PRIVATE_MINIBUS'
              | 'TAXI'
              | 'Heavy_Equipment'
              | 'EXPORT'
              | 'DIPLOMATIC'
              | 'MOTORCYCLE';
          };
        };
      };
      responses: {
        200: {
          content: {
            'application/json': Ticket;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tasks': {
    get: {
      parameters: {
        query?: {
          cursor?: string | undefined;
          limit?: number | undefined;
          order?: ('newest' | 'oldest') | undefined;
          type?: string | undefined;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': {
              items: Task[];
              next_cursor: string | null;
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tasks/{task_id}/resolve': {
    post: {
      parameters: {
        path: {
          task_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Task;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/differences': {
    get: {
      parameters: {};
      responses: {
        200: {
          content: {
            'application/json': {
              items: {
                id: string;
                source: 'answer' | 'webhook';
                name: string;
                rules: string[];
                tolerated: boolean;
                example: {
                  field: string;
                  type: string;
                }[];
                count: number;
                first_seen_at: string;
                last_seen_at: string;
                decision: 'open' | 'closed' | 'expected';
                decided_by: string | null;
                decided_at: string | null;
                reason: string | null;
                task_id: string | null;
              }[];
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/differences/{difference_id}/reports': {
    get: {
      parameters: {
        path: {
          difference_id: string;
        };
        query?: {
          cursor?: string | undefined;
          limit?: number | undefined;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': {
              items: {
                accepted_at: string;
                towing_reference_id: string | null;
                report_id: string | null;
                kind: ('started' | 'detained' | 'canceled' | 'released' | 'invoice' | 'payment') | null;
                violation_id: string | null;
              }[];
              next_cursor: string | null;
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/differences/{difference_id}/expect': {
    post: {
      parameters: {
        path: {
          difference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': {
              id: string;
              source: 'answer' | 'webhook';
              name: string;
              rules: string[];
              tolerated: boolean;
              example: {
                field: string;
                type: string;
              }[];
              count: number;
              first_seen_at: string;
              last_seen_at: string;
              decision: 'open' | 'closed' | 'expected';
              decided_by: string | null;
              decided_at: string | null;
              reason: string | null;
              task_id: string | null;
            };
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/differences/{difference_id}/judgement': {
    get: {
      parameters: {
        path: {
          difference_id: string;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': {
              count: number;
              read: number;
              outcomes: {
                acted_on: number;
                not_acted_on: number;
                differs: number;
              };
              examples: {
                delivery_id: string;
                towing_reference_id: string;
                received_at: string;
                outcome: 'acted_on' | 'not_acted_on' | 'differs';
                rules: string[];
              }[];
              run: {
                state: 'running' | 'done';
                by: string;
                started_at: string;
                ended_at: string | null;
                total: number;
                remaining: number;
              } | null;
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/differences/{difference_id}/judge': {
    post: {
      parameters: {
        path: {
          difference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': {
              state: 'running' | 'done';
              by: string;
              started_at: string;
              ended_at: string | null;
              total: number;
              remaining: number;
            };
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/operations': {
    get: {
      parameters: {};
      responses: {
        200: {
          content: {
            'application/json': Sending;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/operations/{operation}/resume': {
    post: {
      parameters: {
        path: {
          operation: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Sending;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/shadow': {
    get: {
      parameters: {
        query?: {
          cursor?: string | undefined;
          limit?: number | undefined;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': {
              items: {
                kind: 'tow' | 'violation';
                id: string;
                violation_reference_id: string | null;
                plate_number: string | null;
                state: string;
                since: string;
                calls: {
                  report_id: string;
                  operation: 'started' | 'detained' | 'canceled' | 'released' | 'invoice' | 'payment' | 'violation';
                  method: string;
                  address: string;
                  recorded_at: string;
                  body: JsonObject;
                  images: string[];
                }[];
              }[];
              next_cursor: string | null;
              mode: {
                state: 'live' | 'shadow';
                since: string | null;
              };
              held: number;
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/shadow.csv': {
    get: {
      parameters: {};
      responses: {
        200: {
          content: {
            'text/csv': string;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/shadow/send': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/tows/{towing_reference_id}/shadow/decline': {
    post: {
      parameters: {
        path: {
          towing_reference_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            reason: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Tow;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/violations/{violation_id}/shadow/send': {
    post: {
      parameters: {
        path: {
          violation_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Violation;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/violations/{violation_id}/shadow/decline': {
    post: {
      parameters: {
        path: {
          violation_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            reason: string;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Violation;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/deliveries': {
    get: {
      parameters: {
        query?: {
          cursor?: string | undefined;
          limit?: number | undefined;
          differing?: ('true' | 'false') | undefined;
          difference_id?: string | undefined;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': {
              items: Delivery[];
              next_cursor: string | null;
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/other-calls': {
    get: {
      parameters: {
        query?: {
          limit?: number | undefined;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': {
              items: OtherCall[];
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/refused-calls': {
    get: {
      parameters: {
        query?: {
          limit?: number | undefined;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': {
              items: RefusedCall[];
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/deliveries/{delivery_id}': {
    get: {
      parameters: {
        path: {
          delivery_id: string;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': DeliveryDetail;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/deliveries/{delivery_id}/replay': {
    post: {
      parameters: {
        path: {
          delivery_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {};
        };
      };
      responses: {
        202: {
          content: {
            'application/json': DeliveryDetail;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/queues': {
    get: {
      parameters: {};
      responses: {
        200: {
          content: {
            'application/json': Queue[];
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/queues/{queue}/pause': {
    post: {
      parameters: {
        path: {
          queue: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Queue;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/queues/{queue}/resume': {
    post: {
      parameters: {
        path: {
          queue: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Queue;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/conservation': {
    get: {
      parameters: {};
      responses: {
        200: {
          content: {
            'application/json': Conservation;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/service': {
    get: {
      parameters: {};
      responses: {
        200: {
          content: {
            'application/json': {
              messages: {
                source: 'answer' | 'webhook';
                name: string;
                samples: number;
                first_seen_at: string | null;
                last_seen_at: string | null;
                fields: {
                  field: string;
                  documented: string[] | null;
                  required: boolean;
                  seen: {
                    type: string;
                    count: number;
                    first_seen_at: string;
                    last_seen_at: string;
                  }[];
                  mark: 'none' | 'missing' | 'sometimes_missing' | 'type' | 'additional';
                }[];
              }[];
              operations: {
                operation: string;
                calls: number;
                statuses: {
                  status: string;
                  count: number;
                }[];
                p50_ms: number | null;
                p95_ms: number | null;
                budget: 'auth' | 'site' | 'violations' | 'tickets' | 'tow';
              }[];
              differences: {
                id: string;
                source: 'answer' | 'webhook';
                name: string;
                rules: string[];
                tolerated: boolean;
                example: {
                  field: string;
                  type: string;
                }[];
                count: number;
                first_seen_at: string;
                last_seen_at: string;
                decision: 'open' | 'closed' | 'expected';
                decided_by: string | null;
                decided_at: string | null;
                reason: string | null;
                task_id: string | null;
              }[];
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/keys': {
    get: {
      parameters: {};
      responses: {
        200: {
          content: {
            'application/json': {
              items: ApiKey[];
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
    post: {
      parameters: {
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            name: string;
            role: 'viewer' | 'crew' | 'dispatcher' | 'ops';
          };
        };
      };
      responses: {
        201: {
          content: {
            'application/json': NewApiKey | ApiKey;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/keys/{key_id}/rotate': {
    post: {
      parameters: {
        path: {
          key_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            grace_hours?: number | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': NewApiKey | ApiKey;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/keys/{key_id}': {
    delete: {
      parameters: {
        path: {
          key_id: string;
        };
      };
      responses: {
        204: {
          content?: never;
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/audit': {
    get: {
      parameters: {
        query?: {
          cursor?: string | undefined;
          limit?: number | undefined;
          towing_reference_id?: string | undefined;
        };
      };
      responses: {
        200: {
          content: {
            'application/json': {
              items: AuditEntry[];
              next_cursor: string | null;
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/alarms': {
    get: {
      parameters: {};
      responses: {
        200: {
          content: {
            'application/json': {
              items: Alarm[];
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/alarms/{alarm_id}/acknowledge': {
    post: {
      parameters: {
        path: {
          alarm_id: string;
        };
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': {
              items: Alarm[];
            };
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        404: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/notifications': {
    get: {
      parameters: {};
      responses: {
        200: {
          content: {
            'application/json': Notifications;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
    post: {
      parameters: {
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            language?: ('en' | 'ar') | undefined;
            webhook_url?: (string | null) | undefined;
            mail_to?: string[] | undefined;
            escalate_to?: string[] | undefined;
            escalate_after_minutes?: number | undefined;
            muted_alarms?:
              | (
                  | 'connection'
                  | 'outage'
                  | 'shadow'
                  | 'paused'
                  | 'throttled'
                  | 'failing'
                  | 'attemptsFail'
                  | 'lost'
                  | 'recordsMissing'
                  | 'conservationCheckOld'
                  | 'noProcess'
                  | 'silent'
                  | 'workerStalled'
                  | 'unready'
                  | 'dataKeysMissing'
                  | 'queuePaused'
                  | 'backlogOld'
                  | 'failedJobs'
                  | 'webhooksRefused'
                  | 'webhooksMostlyRefused'
                  | 'noWebhooks'
                  | 'webhookSecrets'
                  | 'noticesFail'
                  | 'archive_failing'
                  | 'delivery_failing'
                )[]
              | undefined;
            quiet_from?: (string | null) | undefined;
            quiet_to?: (string | null) | undefined;
            time_zone?: string | undefined;
            quiet_severities?: ('bad' | 'wait')[] | undefined;
          };
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Notifications;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/notifications/reset': {
    post: {
      parameters: {
        header?: {
          'Idempotency-Key'?: string | undefined;
        };
      };
      requestBody?: {
        content: {
          'application/json': {};
        };
      };
      responses: {
        202: {
          content: {
            'application/json': Notifications;
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        409: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/notifications/test': {
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': {
            channel: 'webhook' | 'mail';
          };
        };
      };
      responses: {
        200: {
          content: {
            'application/json': {
              delivered: boolean;
              problem: string | null;
            };
          };
        };
        400: {
          content: {
            'application/json': Refusal;
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        403: {
          content: {
            'application/json': Refusal;
          };
        };
        413: {
          content: {
            'application/json': Refusal;
          };
        };
        415: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
  '/api/events': {
    get: {
      parameters: {
        query?: {
          since?: string | undefined;
        };
      };
      responses: {
        200: {
          content: {
            'text/event-stream': {
              at: string;
              type: string;
              towing_reference_id?: string;
              violation_id?: string;
            };
          };
        };
        401: {
          content: {
            'application/json': Refusal;
          };
        };
        422: {
          content: {
            'application/json': Refusal;
          };
        };
        429: {
          content: {
            'application/json': Refusal;
          };
        };
        503: {
          content: {
            'application/json': Refusal;
          };
        };
        default: {
          content: {
            'application/json': Refusal;
          };
        };
      };
    };
  };
}
export interface Tow {
  towing_reference_id: string;
  violation_reference_id: string;
  metadata: JsonObject | null;
  state: 'requested' | 'started' | 'detained' | 'released' | 'canceled';
  version: number;
  plate_number: string | null;
  towed_location: string | null;
  latitude: number | null;
  longitude: number | null;
  zone_id: string | null;
  violation_type:
    | (
        | 'NO_TICKET'
        | 'TICKET_ENDED'
        | 'USER_EXCEED_PARKING_TIME'
        | 'WRONG_PARKING'
        | 'RESERVED_PARKING'
        | 'OBS_CLS_PARKING'
        | 'EMRG_PARKING'
        | 'ENT_EXT_PARKING'
        | 'PROH_PARKING'
      )
    | null;
  violation_id: string | null;
  requested_at: string;
  shadow: ('held' | 'declined') | null;
  cancellation_reason: string | null;
  facts: {
    event: 'started' | 'detained' | 'canceled' | 'released' | 'invoice' | 'payment';
    occurred_at: string;
    recorded_at: string;
    by: string;
  }[];
  reports: Report[];
  invoices: {
    source: 'answer' | 'webhook';
    received_at: string;
    towing_invoice: JsonObject;
    delay_invoice: JsonObject | null;
  }[];
  tasks: {
    id: string;
    type: string;
    message: string;
    actions: ('correct' | 'retry' | 'waive' | 'accept' | 'resolve' | 'resume' | 'expect')[];
    towing_reference_id?: string;
    report_id?: string;
    violation_id?: string;
    operation?: 'started' | 'detained' | 'canceled' | 'released' | 'invoice' | 'payment' | 'violation';
    difference_id?: string;
    http_status?: number | null;
    hint?: string | null;
    opened_at?: string;
  }[];
  dispatch: {
    assignment: {
      crew: string;
      truck: string | null;
      at: string;
      by: string;
    } | null;
    yard: {
      yard: string;
      slot: string | null;
      at: string;
      by: string;
    } | null;
    holds: {
      id: string;
      reason: string;
      at: string;
      by: string;
      lifted: {
        reason: string;
        at: string;
        by: string;
      } | null;
    }[];
    notes: {
      text: string;
      at: string;
      by: string;
    }[];
    steps: {
      step: 'accepted' | 'en_route' | 'on_scene' | 'hooked';
      occurred_at: string;
      recorded_at: string;
      by: string;
    }[];
    photos: {
      id: string;
      name: string;
      content_type: string;
      size_bytes: number;
      sha256: string;
      at: string;
      by: string;
    }[];
  };
  timeline: {
    at: string;
    type: string;
    [k: string]: unknown;
  }[];
}
export interface JsonObject {
  [k: string]: Json;
}
export interface Report {
  id: string;
  kind: 'started' | 'detained' | 'canceled' | 'released' | 'invoice' | 'payment';
  state: 'pending' | 'sending' | 'accepted' | 'refused' | 'unknown' | 'waived';
  attempts: number;
  last_error: {
    http_status: number | null;
    message: string;
  } | null;
  next_attempt_at: string | null;
  hint: string | null;
  reason: string | null;
  created_at: string;
  delivered_at: string | null;
  in_flight: boolean;
  waits_for: string | null;
  place_in_queue: {
    place: number;
    of: number;
    leaves_at: string;
    closed_until: string | null;
  } | null;
  give_up_at: string | null;
  broken_answer: string | null;
  difference_id: string | null;
  body: JsonObject;
  log: {
    attempt_id: string;
    started_at?: string;
    ended_at_ms?: number;
    duration_ms?: number;
    outcome: string;
    http_status?: number | null;
    message?: string | null;
  }[];
}
export interface Refusal {
  code: string;
  message: string;
  details: {
    field: string;
    rule: string;
  }[];
}
export interface Violation {
  id: string;
  state: 'pending' | 'held' | 'sending' | 'unknown' | 'refused' | 'accepted' | 'waived';
  version: number;
  api: 'reference' | 'guide';
  violation_reference_id: string | null;
  metadata_id: string;
  service_status: string | null;
  can_tow: boolean | null;
  form: {
    date?: string;
    latitude: number;
    longitude: number;
    location: string;
    plateNumber: string;
    plateType?:
      | 'PRIVATE'
      | 'PUBLIC_TRANSPORTATION'
      | 'PRIVATE_TRANSPORTATION'
      | 'PUBLIC_MINIBUS'
      | 'PRIVATE_MINIBUS'
      | 'TAXI'
      | 'Heavy_Equipment'
      | 'EXPORT'
      | 'DIPLOMATIC'
      | 'MOTORCYCLE';
    zoneId?: string;
    imagesDescription?: string;
    violationType?:
      | 'NO_TICKET'
      | 'TICKET_ENDED'
      | 'USER_EXCEED_PARKING_TIME'
      | 'WRONG_PARKING'
      | 'RESERVED_PARKING'
      | 'OBS_CLS_PARKING'
      | 'EMRG_PARKING'
      | 'ENT_EXT_PARKING'
      | 'PROH_PARKING';
    isSaudi?: boolean;
    metadata: JsonObject;
    fullName?: string;
    identityNumber?: string;
    mobileNumber?: string;
    supervisorFullName?: string;
    supervisorIdentityNumber?: string;
    supervisorMobileNumber?: string;
  };
  images: {
    name: string;
    content_type: string;
    size_bytes: number;
    sha256: string;
  }[];
  replaced_images: {
    name: string;
    content_type: string;
    size_bytes: number;
    sha256: string;
    replaced_at: string;
    replaced_by: string;
  }[];
  warnings: {
    field: string;
    rule: string;
  }[];
  towing_reference_ids: string[];
  ticket: {
    checked_at: string;
    has_active_ticket: boolean;
  } | null;
  attempts: number;
  last_error: {
    http_status: number | null;
    message: string;
  } | null;
  next_attempt_at: string | null;
  waits_for: string | null;
  place_in_queue: {
    place: number;
    of: number;
    leaves_at: string;
    closed_until: string | null;
  } | null;
  shadow: ('held' | 'declined') | null;
  give_up_at: string | null;
  hint: string | null;
  reason: string | null;
  in_flight: boolean;
  accepted_how: string | null;
  accepted_at: string | null;
  broken_answer: string | null;
  difference_id: string | null;
  log: {
    attempt_id: string;
    started_at?: string;
    ended_at_ms?: number;
    duration_ms?: number;
    outcome: string;
    http_status?: number | null;
    message?: string | null;
  }[];
  created_at: string;
  by: string;
}
export interface Capacity {
  zoneId: string;
  availableSlots: number;
  checked_at: string;
  [k: string]: unknown;
}
export interface Ticket {
  hasActiveTicket: boolean;
  checked_at: string;
  [k: string]: unknown;
}
export interface Task {
  id: string;
  type: string;
  message: string;
  actions: ('correct' | 'retry' | 'waive' | 'accept' | 'resolve' | 'resume' | 'expect')[];
  towing_reference_id?: string;
  report_id?: string;
  violation_id?: string;
  operation?: 'started' | 'detained' | 'canceled' | 'released' | 'invoice' | 'payment' | 'violation';
  difference_id?: string;
  http_status?: number | null;
  hint?: string | null;
  opened_at?: string;
  report: Report | null;
  violation: Violation | null;
}
export interface Sending {
  mode: {
    state: 'live' | 'shadow';
    since: string | null;
  };
  connection: {
    state: 'working' | 'broken';
    since: string | null;
    next_try_at: string | null;
  };
  service: {
    state: 'working' | 'down';
    since: string | null;
    next_try_at: string | null;
    failures: number;
  };
  operations: {
    operation: 'started' | 'detained' | 'canceled' | 'released' | 'invoice' | 'payment' | 'violation';
    state: 'open' | 'paused';
    since: string | null;
    next_try_at: string | null;
  }[];
  token: {
    state: 'none' | 'valid' | 'expired';
    expires_at: string | null;
  };
  held: number;
  budgets: {
    name: 'auth' | 'site' | 'violations' | 'tickets' | 'tow';
    per_minute: number;
    announced_per_minute: number | null;
    announced_at: string | null;
    limit: number;
    used: number;
    waiting: number;
    closed_until: string | null;
  }[];
}
export interface Delivery {
  id: string;
  kind: 'tow_request' | 'tow_invoice';
  state: 'waiting' | 'parked' | 'differs' | 'processed';
  verdict: string | null;
  difference_id: string | null;
  towing_reference_id: string;
  verified: boolean;
  signature_id: string | null;
  received_at: string;
  processed_at: string | null;
  copies: number;
  failures: number;
  replays: number;
}
export interface OtherCall {
  id: string;
  path: string;
  received_at: string;
  verified: boolean;
  length: number;
  raw_body: string;
}
export interface RefusedCall {
  received_at: string;
  path: string;
  source: string;
  reason:
    | 'signature_wrong'
    | 'body_changed'
    | 'signature_missing'
    | 'timestamp_off'
    | 'shared_secret_wrong'
    | 'shared_secret_missing'
    | 'content_type'
    | 'compressed'
    | 'too_large'
    | 'unreadable'
    | 'too_many'
    | 'not_json'
    | 'contract_broken'
    | 'address';
  http_status: number;
  details: {
    field: string;
    rule: string;
  }[];
  header_names: string[];
  size: number | null;
  body_hash: string | null;
  body_kind: 'json' | 'form' | 'markup' | 'text' | 'binary' | 'empty' | 'not_read';
  fields: {
    field: string;
    type: string;
  }[];
}
export interface DeliveryDetail {
  id: string;
  kind: 'tow_request' | 'tow_invoice';
  state: 'waiting' | 'parked' | 'differs' | 'processed';
  verdict: string | null;
  difference_id: string | null;
  towing_reference_id: string;
  verified: boolean;
  signature_id: string | null;
  received_at: string;
  processed_at: string | null;
  copies: number;
  failures: number;
  replays: number;
  raw_body: string;
  differences: {
    field: string;
    rule: string;
  }[];
}
export interface Queue {
  name: string;
  waiting: number;
  active: number;
  failed: number;
  due: number;
  oldest_age_ms: number;
  paused: boolean;
}
export interface Conservation {
  acknowledged: number;
  finished: number;
  waiting: number;
  parked: number;
  with_a_person: number;
  lost: number;
  repaired: number;
  lost_names: string[];
  newer: number;
  newer_names: string[];
  by_kind: {
    deliveries: {
      acknowledged: number;
      finished: number;
      waiting: number;
      parked: number;
      with_a_person: number;
      lost: number;
      repaired: number;
    };
    reports: {
      acknowledged: number;
      finished: number;
      waiting: number;
      parked: number;
      with_a_person: number;
      lost: number;
      repaired: number;
    };
    violations: {
      acknowledged: number;
      finished: number;
      waiting: number;
      parked: number;
      with_a_person: number;
      lost: number;
      repaired: number;
    };
  };
  started_at: string | null;
  ended_at: string | null;
  walk_ms: number | null;
}
export interface ApiKey {
  id: string;
  name: string;
  role: 'viewer' | 'crew' | 'dispatcher' | 'ops';
  created_at: string;
  previous_valid_until: string | null;
}
export interface NewApiKey {
  id: string;
  name: string;
  role: 'viewer' | 'crew' | 'dispatcher' | 'ops';
  created_at: string;
  previous_valid_until: string | null;
  api_key: string;
}
export interface AuditEntry {
  seq: number;
  at: string;
  action: string;
  by: string;
  by_id: string;
  role: 'viewer' | 'crew' | 'dispatcher' | 'ops';
  on: {
    towing_reference_id?: string;
    report_id?: string;
    violation_id?: string;
    hold_id?: string;
    photo_id?: string;
    queue?: string;
    task_id?: string;
    delivery_id?: string;
    difference_id?: string;
    alarm_id?: string;
    key_id?: string;
    operation?: 'started' | 'detained' | 'canceled' | 'released' | 'invoice' | 'payment' | 'violation';
  };
  why: string | null;
  what: JsonObject;
}
export interface Alarm {
  id: string | null;
  kind:
    | 'connection'
    | 'outage'
    | 'shadow'
    | 'paused'
    | 'throttled'
    | 'failing'
    | 'attemptsFail'
    | 'lost'
    | 'recordsMissing'
    | 'conservationCheckOld'
    | 'noProcess'
    | 'silent'
    | 'workerStalled'
    | 'unready'
    | 'dataKeysMissing'
    | 'queuePaused'
    | 'backlogOld'
    | 'failedJobs'
    | 'webhooksRefused'
    | 'webhooksMostlyRefused'
    | 'noWebhooks'
    | 'webhookSecrets'
    | 'noticesFail'
    | 'archive_failing'
    | 'delivery_failing';
  severity: 'bad' | 'wait';
  title: string;
  what_to_do: string;
  since: string | null;
  announced_at: string | null;
  escalated_at: string | null;
  acknowledged_at: string | null;
  acknowledged_by: string | null;
}
export interface Notifications {
  settings: NotificationSettings;
  source: 'configuration' | 'person';
  channels: {
    webhook: {
      missing: string[];
      is_used: boolean;
      waiting: number;
      delivered_at: string | null;
      failing_since: string | null;
      problem: string | null;
    };
    mail: {
      missing: string[];
      is_used: boolean;
      waiting: number;
      delivered_at: string | null;
      failing_since: string | null;
      problem: string | null;
    };
  };
}
export interface NotificationSettings {
  language: 'en' | 'ar';
  webhook_url: string | null;
  mail_to: string[];
  escalate_to: string[];
  escalate_after_minutes: number;
  muted_alarms: (
    | 'connection'
    | 'outage'
    | 'shadow'
    | 'paused'
    | 'throttled'
    | 'failing'
    | 'attemptsFail'
    | 'lost'
    | 'recordsMissing'
    | 'conservationCheckOld'
    | 'noProcess'
    | 'silent'
    | 'workerStalled'
    | 'unready'
    | 'dataKeysMissing'
    | 'queuePaused'
    | 'backlogOld'
    | 'failedJobs'
    | 'webhooksRefused'
    | 'webhooksMostlyRefused'
    | 'noWebhooks'
    | 'webhookSecrets'
    | 'noticesFail'
    | 'archive_failing'
    | 'delivery_failing'
  )[];
  quiet_from: string | null;
  quiet_to: string | null;
  time_zone: string;
  quiet_severities: ('bad' | 'wait')[];
}
